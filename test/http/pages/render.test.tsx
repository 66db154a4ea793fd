import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReferenceShell } from '../../../src/http/pages/reference-page.tsx';
import { renderPage } from '../../../src/http/pages/render.ts';

test('what is inserted into a page is text, in elements and in attributes', () => {
  const hostile = `"><script>alert(1)</script>&lt;`;
  const html = renderPage(<ReferenceShell title={hostile} folder={hostile} />);
  assert.ok(html.startsWith('<!doctype html>\n<html lang="en"><head>'));
  assert.ok(!html.includes('<script>alert'));
  assert.ok(html.includes('<title>&quot;>&lt;script>alert(1)&lt;/script>&amp;lt;</title>'), html);
  assert.ok(html.includes('href="&quot;>&lt;script>alert(1)&lt;/script>&amp;lt;/swagger-ui.css"'), html);
});

test('a page with a wrong property does not compile', () => {
  const wrong = [
    // @ts-expect-error The title is text.
    () => <ReferenceShell title={1} folder="docs" />,
    // @ts-expect-error The folder is missing.
    () => <ReferenceShell title="API" />,
    // @ts-expect-error No such property exists.
    () => <ReferenceShell title="API" folder="docs" heading="API" />,
    // @ts-expect-error An element of HTML has no such attribute.
    () => <meta charset={{}} />,
  ];
  assert.equal(wrong.length, 4);
});
