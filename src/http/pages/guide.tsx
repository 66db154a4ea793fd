/**
 * Serves the documentation for people, Markdown files in one folder, as pages below `/docs/guide`, with the pictures in its folder `images`.
 * Each page is read and rendered once, when it is first requested, and sent from memory from then on. A name that is not among the files is
 * not found.
 */
import { globSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { readOnce, sendStatic } from '../transport/static-content.ts';
import { Page } from './page.tsx';
import { renderPage } from './render.ts';

const LIST = '/docs/guide';
/** Time for which a browser keeps a page without asking again. */
const MAX_AGE_SECONDS = 3_600;
/** Content security policy (CSP 3). A page has a stylesheet and pictures of this host, and nothing else. */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const STYLE = `:root { color-scheme: light dark; --soft: light-dark(#f3f4f6, #23272c); --line: light-dark(#d5d9de, #3a4048) }
body { max-width: 52rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.55 system-ui, sans-serif }
h1, h2, h3 { line-height: 1.25 }
h2 { margin-top: 2.2em }
pre { overflow-x: auto; padding: .8rem 1rem; border-radius: 6px; background: var(--soft) }
code { font: .9em ui-monospace, monospace }
:not(pre) > code { padding: .1em .3em; border-radius: 4px; background: var(--soft) }
.wide { overflow-x: auto }
img { max-width: 100%; height: auto; border: 1px solid var(--line); border-radius: 6px }
table { border-collapse: collapse }
th, td { padding: .4em .7em; border: 1px solid var(--line); text-align: left; vertical-align: top }
`;

/** Serves the pages of the Markdown files in `folder`, and the list of them. */
export function serveGuide(server: FastifyInstance, title: string, folder: string): void {
  const schema = { hide: true };
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => basename(name, '.md'))
    .sort();
  const read = (name: string) => readFile(join(folder, `${name}.md`), 'utf8');
  const list = async () => {
    const { titleOf } = await import('./markdown.ts');
    const lines = await Promise.all(
      names.map(async (name) => `- [${titleOf(await read(name))}](guide/${name})`),
    );
    return `# ${title}\n\n${lines.join('\n')}\n`;
  };
  serve(LIST, 'guide/', list);
  for (const name of names) serve(`${LIST}/${name}`, '', () => read(name));
  for (const name of globSync('images/*.png', { cwd: folder })) servePicture(name);
  server.get(`${LIST}/`, { schema }, async (_request, reply) => reply.redirect('../guide', 308));
  server.get(`${LIST}/style.css`, { schema }, async (_request, reply) =>
    show(reply, 'text/css; charset=utf-8').send(STYLE),
  );

  /** `base` is the relative path of the pages, so that a proxy may put a prefix before all paths. */
  function serve(path: string, base: string, text: () => Promise<string>): void {
    const content = readOnce(async () => Buffer.from(await renderGuidePage(await text(), base)));
    server.get(path, { schema }, async (request, reply) => {
      const page = await content();
      return sendStatic(request, show(reply, 'text/html; charset=utf-8'), page);
    });
  }

  function servePicture(name: string): void {
    const content = readOnce(() => readFile(join(folder, name)));
    server.get(`${LIST}/${name}`, { schema }, async (request, reply) =>
      sendStatic(request, show(reply, 'image/png'), await content()),
    );
  }
}

function show(reply: FastifyReply, type: string): FastifyReply {
  return reply.headers({
    'content-type': type,
    'content-security-policy': POLICY,
    'cache-control': `public, max-age=${MAX_AGE_SECONDS}`,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
}

async function renderGuidePage(markdown: string, base: string): Promise<string> {
  // The renderer is loaded with the first page that somebody reads.
  const { renderMarkdown, titleOf } = await import('./markdown.ts');
  const up = base === '' ? '../' : '';
  return renderPage(
    <Page title={titleOf(markdown)} head={<link rel="stylesheet" href={`${base}style.css`} />}>
      <nav>
        <a href={`${up}guide`}>Documentation</a> · <a href={`../${up}docs`}>API reference</a>
      </nav>
      <main dangerouslySetInnerHTML={{ __html: renderMarkdown(markdown) }} />
    </Page>,
  );
}
