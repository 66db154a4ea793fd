/**
 * Renders pages of documentation that come with the program. Their text is trusted: HTML in it is kept. Links between the
 * pages lose `.md`, headings get the anchors that such links use, and links to other files of the sources become text.
 */
import { Marked, type Tokens } from 'marked';

const renderer = new Marked({
  renderer: {
    heading({ tokens, depth, text }: Tokens.Heading) {
      return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    link({ href, tokens }: Tokens.Link) {
      const content = this.parser.parseInline(tokens);
      const target = href.replace(/^([\w-]+)\.md(?=#|$)/, '$1');
      if (/^\.\.?\//.test(target)) return content;
      return `<a href="${target.replaceAll('"', '&quot;')}">${content}</a>`;
    },
  },
});

/** Returns the HTML of a page in Markdown. */
export function renderMarkdown(markdown: string): string {
  const html = renderer.parse(markdown, { async: false });
  // Wide tables scroll by themselves.
  return html.replaceAll('<table>', '<div class="wide"><table>').replaceAll('</table>', '</table></div>');
}

/** Returns the text of the first heading; empty when there is none. */
export function titleOf(markdown: string): string {
  return /^# (.+)$/m.exec(markdown)?.[1] ?? '';
}

/** Returns the anchor that GitHub gives a heading: lower case, punctuation removed, spaces replaced by hyphens. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}
