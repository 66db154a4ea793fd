/** Joins the lines of text in the format "flowed" (RFC 3676 section 4): a line that ends in a space goes on in the next one. */

/** The line in front of a signature, which is never joined (RFC 3676 section 4.3). */
const SIGNATURE_MARK = '-- ';

type Line = {
  /** Number of quote marks in front of the line. */
  depth: number;
  /** The line without its quote marks, and without the space that protects its beginning (RFC 3676 section 4.4). */
  content: string;
};

/**
 * Returns the text with its paragraphs in one line each. Line ends are LF.
 * @param deletesSpace true when the space at the end of a line is not a part of the text (DelSp)
 */
export function unflow(text: string, deletesSpace: boolean): string {
  const lines: string[] = [];
  let paragraph: Line | undefined;
  for (const line of text.split('\n')) {
    const { depth, content } = readLine(line);
    const isSignatureMark = content === SIGNATURE_MARK;
    const isFlowed = content.endsWith(' ') && !isSignatureMark;
    const shown = isFlowed && deletesSpace ? content.slice(0, -1) : content;
    // A line of another depth begins a paragraph, although the line in front of it is flowed (RFC 3676 section 4.5).
    if (paragraph && (paragraph.depth !== depth || isSignatureMark)) {
      lines.push(showLine(paragraph));
      paragraph = undefined;
    }
    const joined: Line = { depth, content: (paragraph?.content ?? '') + shown };
    paragraph = isFlowed ? joined : undefined;
    if (!isFlowed) lines.push(showLine(joined));
  }
  if (paragraph) lines.push(showLine(paragraph));
  return lines.join('\n');
}

function readLine(line: string): Line {
  let depth = 0;
  while (line[depth] === '>') depth++;
  const start = line[depth] === ' ' ? depth + 1 : depth;
  return { depth, content: line.slice(start) };
}

function showLine({ depth, content }: Line): string {
  // The space that protects a mark stays: without it, the words of the author would look quoted.
  if (depth === 0) return content.startsWith('>') ? ` ${content}` : content;
  const marks = '>'.repeat(depth);
  return content === '' ? marks : `${marks} ${content}`;
}
