/** Runs the tool `widget` with these arguments, in this terminal; returns its exit code. */
export function launch(args: readonly string[]): Promise<number>;
