// Where the sandbox's frame is: beside this file. The catalog serves another version of this file.
export const FRAME = new URL("frame.html", import.meta.url).href;
export const IS_APART = false; // Whether it is on another site.
