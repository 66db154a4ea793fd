/**
 * Reads XML as a stream of leaf elements, and writes it, within limits and without document types: a document that declares entities is
 * refused, so that none can be expanded. What stands around the root element, such as a schema that is never closed, is skipped. Whatever a
 * text or an attribute holds, it neither ends its element nor makes a written document unreadable.
 */
import { Parser } from 'htmlparser2';

/** Says that a document is not what it should be. */
export class UnreadableDocumentError extends Error {
  override readonly name = 'UnreadableDocumentError';
}

type Handlers = {
  /** Local name of the root element; by default the first element is the root. */
  root?: string;
  /** Called with the text of an element that has no elements in it. `path` has the names from the root, joined by `/`. */
  onLeaf(path: string, text: string): void;
  /** Called at the end of an element that has elements in it. */
  onEnd(path: string): void;
};

/** Maximum depth of elements. Aggregate reports have six levels. */
const MAX_DEPTH = 16;
/** Maximum number of open elements, with those around the root. The parser takes quadratic time for many. */
const MAX_OPEN = 256;
/** Maximum length of the name of an element, and of the text of a leaf that is read. */
const MAX_NAME_CHARACTERS = 64;
const MAX_LEAF_CHARACTERS = 1_000;

/**
 * Reads the elements of a document in their order.
 * @throws UnreadableDocumentError
 */
export function readElements(text: string, { root, onLeaf, onEnd }: Handlers): void {
  const path: string[] = [];
  let leaf: string | undefined;
  let open = 0;
  const parser = new Parser(
    {
      onopentagname(name) {
        if (path.length >= MAX_DEPTH) throw new UnreadableDocumentError('the elements are nested too deeply');
        if (++open > MAX_OPEN) throw new UnreadableDocumentError('too many elements are open');
        const local = localName(name);
        if (path.length === 0 && root !== undefined && local !== root) return;
        path.push(local);
        leaf = '';
      },
      ontext(part) {
        if (leaf !== undefined) leaf = (leaf + part).slice(0, MAX_LEAF_CHARACTERS);
      },
      onclosetag() {
        open--;
        if (path.length === 0) return;
        const joined = path.join('/');
        if (leaf === undefined) onEnd(joined);
        else onLeaf(joined, leaf.trim());
        path.pop();
        leaf = undefined;
      },
      onprocessinginstruction(name) {
        if (name.startsWith('!')) throw new UnreadableDocumentError('the document has a document type');
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.write(text);
  parser.end();
}

/** Some reports give their elements a prefix of a namespace. */
function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1).slice(0, MAX_NAME_CHARACTERS);
}

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
  return text.replace(FORBIDDEN, '?').replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
