// What consent.js and settings.js are drawn with.

export function make(tag, properties = {}, children = []) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

const styled = new WeakMap(); // The style sheets of a document or shadow tree.

/** A constructed sheet, which no Content-Security-Policy forbids. */
export function useStyle(element, text) {
  const root = element.getRootNode();
  const tree = root.adoptedStyleSheets ? root : element.ownerDocument;
  const texts = styled.get(tree) ?? new Set();
  if (texts.has(text)) return;
  styled.set(tree, texts.add(text));
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  tree.adoptedStyleSheets.push(sheet);
}
