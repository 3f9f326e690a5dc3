// Enhances publishing: drag and drop of a folder, and upload progress. The form works without it.
"use strict";

const MANIFEST = "widget.json";
const MOST_FILES = 2000;
const FIELDS = ["manifest", "bundle", "style", "readme", "screenshots"];
const PICTURE = /\.(png|jpe?g|webp)$/i;

// The dropped files by path. Folders that never contain a widget are skipped.
async function readDropped(items) {
  const files = new Map();
  const entries = [...items].map((it) => it.webkitGetAsEntry?.()).filter(Boolean);
  for (const entry of entries) await readEntry(entry, "", files);
  return files;
}

async function readEntry(entry, folder, files) {
  if (files.size >= MOST_FILES) return;
  if (entry.isFile) {
    files.set(folder + entry.name, await new Promise((done, fail) => entry.file(done, fail)));
  } else if (entry.name !== "node_modules" && !entry.name.startsWith(".")) {
    const reader = entry.createReader();
    for (;;) {
      const some = await new Promise((done, fail) => reader.readEntries(done, fail));
      if (some.length === 0) break;
      for (const it of some) await readEntry(it, `${folder}${entry.name}/`, files);
    }
  }
}

// The files of the widget, by field: the topmost manifest, the files it names, and those beside it.
async function findWidget(files) {
  const paths = [...files.keys()];
  const ending = (end) => paths.filter((it) => it.endsWith(end));
  const depth = (path) => path.split("/").length;
  const manifests = paths.filter((it) => it.split("/").at(-1) === MANIFEST);
  const [path] = manifests.sort((a, b) => depth(a) - depth(b));
  if (path === undefined) {
    const endings = [".json", ".js", ".css", ".md"];
    const [manifest, bundle, style, readme] = endings.map((end) => files.get(ending(end)[0]));
    const screenshots = pictures(files, "");
    const isFew = paths.length - screenshots.length <= endings.length;
    const found = { manifest, bundle, style, readme, screenshots };
    return isFew ? found : { fault: `There is no ${MANIFEST} among these files.` };
  }
  let said = {};
  try {
    said = Object(JSON.parse(await files.get(path).text()));
  } catch { /* The catalog reports the error. */ }
  const folder = path.slice(0, -MANIFEST.length);
  const find = (name) => files.get(folder + String(name).replace(/^\.\//, ""));
  const main = said.main ?? "index.js";
  // Manifests of other tools do not name the files, which are in dist.
  const built = (...names) => names.map((it) => find(`dist/${it}`)).find(Boolean);
  const isBuilt = !said.main && !find(main);
  const bundle = isBuilt ? built("index.js") : find(main);
  const style = said.style ? find(said.style) : isBuilt ? built("index.css", "style.css") : undefined;
  const beside = (name) => files.get(paths.find((it) => it.toLowerCase() === (folder + name).toLowerCase()));
  const found = { manifest: files.get(path), bundle, style, readme: beside("README.md") };
  found.notes = sectionOf((await beside("CHANGELOG.md")?.text()) ?? "", said.version);
  found.name = said.displayName ? "" : await findName(said.name, beside("package.json"));
  found.screenshots = pictures(files, `${folder}screenshots/`);
  if (!found.bundle) found.fault = `The manifest names ${main}, which is not there.`;
  if (said.style && !found.style) found.fault = `The manifest names ${said.style}, which is not there.`;
  return found;
}

// In manifests of other tools, `name` is the name for people: the one in package.json, or made of it.
async function findName(forPeople, packageFile) {
  const isName = (it) => /^[a-z0-9][a-z0-9-]{0,63}$/.test(it);
  if (typeof forPeople !== "string" || isName(forPeople)) return "";
  try {
    const name = JSON.parse(await packageFile.text()).name.split("/").at(-1);
    if (isName(name)) return name;
  } catch { /* There is none. */ }
  const letters = forPeople.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  return letters.replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 64);
}

// The section of a version in a changelog, as `widget publish` finds it; empty if there is none.
function sectionOf(changelog, version) {
  const number = String(version).split("+")[0].replace(/[^0-9A-Za-z-]/g, "\\$&");
  const wanted = new RegExp(`^(?:\\S+\\s+)?\\[?v?${number}(?:\\+[0-9A-Za-z.-]+)?(?![\\w.+-])`, "i");
  const section = [];
  let level = 0;
  let fence = "";
  for (const line of changelog.split(/\r?\n/)) {
    const [, marks, title] = (!fence && /^ {0,3}(#{1,6})\s+(.*)$/.exec(line)) || [];
    if (level && marks?.length <= level) break;
    if (level) section.push(line);
    else if (wanted.test(title ?? "")) level = marks.length;
    const [, mark] = /^ {0,3}(```+|~~~+)/.exec(line) ?? [];
    if (mark && (!fence || mark.startsWith(fence))) fence = fence ? "" : mark;
  }
  return section.join("\n").trim();
}

// The pictures directly in a folder, by name; a light one precedes its dark one.
function pictures(files, folder) {
  const isOne = (path) => path.startsWith(folder) && PICTURE.test(path) && !path.slice(folder.length).includes("/");
  const key = (path) => path.replace("dark", "light") + (path.includes("dark") ? " dark" : "");
  const byKey = (a, b) => (key(a) < key(b) ? -1 : 1);
  return [...files.keys()].filter(isOne).sort(byKey).map((path) => files.get(path));
}

function put(input, files) {
  const list = new DataTransfer();
  for (const file of [files ?? []].flat()) list.items.add(file);
  input.files = list.files;
}

class PublishForm {
  constructor(form) {
    this.form = form;
    this.inputs = Object.fromEntries(FIELDS.map((name) => [name, form.elements[name]]));
    this.zone = form.querySelector("[data-drop]");
    this.zone.hidden = false;
    this.zone.querySelector("[data-choose]").addEventListener("click", () => this.choose());
    form.addEventListener("dragover", (event) => this.over(event, true));
    form.addEventListener("dragleave", (event) => this.over(event, false));
    form.addEventListener("drop", (event) => this.drop(event));
    form.addEventListener("submit", (event) => this.send(event));
  }

  over(event, isOver) {
    event.preventDefault();
    this.zone.classList.toggle("over", isOver);
  }

  async drop(event) {
    this.over(event, false);
    try {
      this.take(await readDropped(event.dataTransfer.items));
    } catch {
      this.say("The files could not be read. Choose them below.");
    }
  }

  choose() {
    const input = document.createElement("input");
    Object.assign(input, { type: "file", webkitdirectory: true });
    input.addEventListener("change", () => {
      this.take(new Map([...input.files].map((it) => [it.webkitRelativePath, it])));
    });
    input.click();
  }

  async take(files) {
    if (files.size === 0) return;
    const { fault, notes, name, ...found } = await findWidget(files);
    for (const field of FIELDS) put(this.inputs[field], found[field]);
    if (notes) this.form.elements.notes.value = notes;
    if (name) this.form.elements.name.value = name;
    const names = FIELDS.flatMap((it) => found[it] ?? []).map((it) => it.name);
    if (notes) names.push("release notes in CHANGELOG.md");
    this.say(fault ?? `Found: ${names.join(", ")}.`);
  }

  say(sentence) {
    this.zone.querySelector("[data-found]").textContent = sentence;
  }

  send(event) {
    event.preventDefault();
    const sending = this.form.querySelector("[data-sending]");
    const button = this.form.querySelector("[type=submit]");
    const request = new XMLHttpRequest();
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      sending.querySelector("progress").value = loaded / total;
    });
    request.addEventListener("loadend", () => {
      sending.hidden = true;
      button.disabled = false;
      this.show(request);
    });
    sending.hidden = false;
    button.disabled = true;
    request.open("POST", this.form.action);
    request.setRequestHeader("accept", "text/html");
    request.responseType = "document";
    request.send(new FormData(this.form));
  }

  // The next page; or this one, with the errors and the chosen files.
  show(request) {
    if (request.status === 0 || request.response === null) {
      for (const name of FIELDS) put(this.inputs[name]);
      return this.say("The files could not be sent. They may have changed: choose them again.");
    }
    if (request.status < 400) return location.assign(request.responseURL);
    const page = request.response;
    const form = page.querySelector("[data-publish]");
    if (form === null) return this.say(page.querySelector("main").innerText.trim());
    const chosen = FIELDS.map((name) => [...this.inputs[name].files]);
    this.form.replaceWith(document.adoptNode(form));
    const shown = new PublishForm(form);
    FIELDS.forEach((name, i) => put(shown.inputs[name], chosen[i]));
    form.querySelector("[data-again]").hidden = true;
    form.querySelector("[role=alert]").focus();
  }
}

document.querySelectorAll("[data-publish]").forEach((form) => new PublishForm(form));
