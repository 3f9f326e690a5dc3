/** An object whose changes Svelte follows, for the properties of a component. */
export function reactive<T extends object>(initial: T): T {
  const state = $state(initial);
  return state;
}
