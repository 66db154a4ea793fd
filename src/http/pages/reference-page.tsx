/**
 * Serves the document for people at `/docs`: a page that reads `/v1/openapi.json` and can try each request. All of its
 * files come from this server, under any host name, and its policy lets it talk to no other server. Each file is read
 * from the disk once, when it is first requested, and sent from memory from then on: the number of open files does not
 * grow with the number of readers.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { readOnce, sendStatic } from '../transport/static-content.ts';
import { Page } from './page.tsx';
import { renderPage } from './render.ts';

const FOLDER = 'docs';
/** Time for which a browser keeps the files of the page without asking again. */
const MAX_AGE_SECONDS = 3_600;

/**
 * Script that starts the page. The validator is disabled, because it would send the document to an outside server. Before the parameters of each
 * operation stands its call in several languages (`x-codeSamples`), which opens when its name is clicked.
 */
const START = `const codeSamples = ({ React: { createElement, Fragment } }) => {
  const show = ({ label, source }) =>
    createElement(
      'details',
      { key: label },
      createElement('summary', null, label),
      createElement('pre', { className: 'microlight' }, source),
    );
  const before = (Parameters) => (props) =>
    createElement(
      Fragment,
      null,
      createElement(
        'div',
        { className: 'opblock-description-wrapper' },
        (props.operation.get('x-codeSamples')?.toJS() ?? []).map(show),
      ),
      createElement(Parameters, props),
    );
  return { wrapComponents: { parameters: before } };
};
SwaggerUIBundle({
  url: 'v1/openapi.json',
  dom_id: '#reference',
  validatorUrl: null,
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  plugins: [codeSamples],
});
`;

/**
 * Content security policy (CSP 3). The page writes its pictures as `data:` and the styles of single elements into its
 * HTML.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const FILES = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/** Reads one file of the page. Tests replace it. */
type ReadAsset = (path: string) => Promise<Buffer>;

/** Serves the page at `/docs`, and redirects `/` to it. */
export function serveReferencePage(
  server: FastifyInstance,
  title: string,
  read: ReadAsset = (path) => readFile(path),
): void {
  const html = renderPage(<ReferenceShell title={title} folder={FOLDER} />);
  const show = (reply: FastifyReply, type: string) =>
    reply.headers({
      'content-type': type,
      'content-security-policy': POLICY,
      'cache-control': `public, max-age=${MAX_AGE_SECONDS}`,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
  const schema = { hide: true };
  // The redirect is relative, like the paths of the page (RFC 9110 section 10.2.2). It is temporary, because the root
  // may get content of its own.
  server.get('/', { schema }, async (_request, reply) => reply.redirect(FOLDER, 302));
  server.get(`/${FOLDER}/`, { schema }, async (_request, reply) => reply.redirect(`../${FOLDER}`, 308));
  server.get(`/${FOLDER}`, { schema }, async (_request, reply) =>
    show(reply, 'text/html; charset=utf-8').send(html),
  );
  server.get(`/${FOLDER}/start.js`, { schema }, async (_request, reply) =>
    show(reply, 'text/javascript; charset=utf-8').send(START),
  );
  for (const [name, type] of Object.entries(FILES)) {
    const content = readOnce(() => read(pathOf(name)));
    server.get(`/${FOLDER}/${name}`, { schema }, async (request, reply) => {
      const asset = await content();
      return sendStatic(request, show(reply, type), asset);
    });
  }
}

/**
 * Returns the path of a file of the package. It is resolved at the first request, because that costs a start some
 * milliseconds.
 */
function pathOf(name: string): string {
  const entry = createRequire(import.meta.url).resolve('swagger-ui-dist');
  return join(dirname(entry), name);
}

/** `folder` is relative, so that a proxy may put a prefix before all paths. */
type ShellProps = { title: string; folder: string };

/** Returns the page that loads the stylesheet and the scripts from `folder`. */
export function ReferenceShell({ title, folder }: ShellProps) {
  return (
    <Page
      title={title}
      head={
        <>
          <link rel="stylesheet" href={`${folder}/swagger-ui.css`} />
          <link rel="icon" type="image/png" href={`${folder}/favicon-32x32.png`} />
        </>
      }
    >
      <div id="reference" />
      <script src={`${folder}/swagger-ui-bundle.js`} />
      <script src={`${folder}/start.js`} />
    </Page>
  );
}
