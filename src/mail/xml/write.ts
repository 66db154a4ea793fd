/** Writes XML. Whatever a text or an attribute holds, it neither ends its element nor makes the document unreadable. */

type Attributes = Readonly<Record<string, string>>;

/** Matches the characters that XML forbids (XML 1.0 section 2.2), lone surrogates among them. */
const FORBIDDEN = /[^\t\n\r -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** Returns a document. `root` is its element, or a document type with its element. */
export function xmlDocument(root: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root}`;
}

/** Returns an element with elements in it, which `content` already is in XML. */
export function element(name: string, content: string, attributes: Attributes = {}): string {
  return `<${name}${attributesOf(attributes)}>\n${content}</${name}>\n`;
}

/** Returns an element with a text in it. */
export function textElement(name: string, text: string | number, attributes: Attributes = {}): string {
  return `<${name}${attributesOf(attributes)}>${escapeText(String(text))}</${name}>\n`;
}

function attributesOf(attributes: Attributes): string {
  return Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${escapeText(value)}"`)
    .join('');
}

function escapeText(text: string): string {
  return text.replace(FORBIDDEN, '?').replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);
}
