import { expect, test, vi } from "vitest";

import { displayName } from "../widget.json";
import { mount } from "./index";

test("it shows its settings, follows changes, and leaves nothing behind", async () => {
  const element = document.body.appendChild(document.createElement("div"));
  const shown = () => element.firstElementChild?.shadowRoot;

  const widget = mount(element, { config: { greeting: "Good morning" } });
  await vi.waitFor(() => expect(shown()?.textContent).toContain("Good morning"));
  expect(shown()?.querySelector("[role=group]")?.getAttribute("aria-label")).toBe(displayName);

  widget.update({ greeting: "Good night" });
  await vi.waitFor(() => expect(shown()?.textContent).toContain("Good night"));

  widget.unmount();
  expect(element.childElementCount).toBe(0);
});

test("it needs nothing from the dashboard", async () => {
  const element = document.body.appendChild(document.createElement("div"));
  mount(element);
  await vi.waitFor(() => expect(element.firstElementChild?.shadowRoot?.textContent).toContain("Hello"));
});
