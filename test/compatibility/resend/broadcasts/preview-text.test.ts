/** The preview text of a broadcast as a part of its HTML. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  splitPreviewText,
  withPreviewText,
} from '../../../../src/compatibility/resend/broadcasts/preview-text.ts';

test('a preview text is the first element of the body, and is not displayed', () => {
  const html = '<!doctype html><html><head><title>a</title></head><BODY class="x"><p>Hello</p></BODY></html>';
  const whole = withPreviewText({ html, previewText: 'News & <more>' });
  assert.match(whole, /<BODY class="x"><div [^>]*display:none[^>]*>News &amp; &lt;more&gt;<\/div><p>Hello/);
  assert.deepEqual(splitPreviewText(whole), { html, previewText: 'News & <more>' });
});

test('HTML without a body begins with it, and HTML without a preview text is whole', () => {
  const html = '<p>Hello</p>';
  const whole = withPreviewText({ html, previewText: '{{firstName|you}}: news' });
  assert.match(whole, /^<div [^>]*>\{\{firstName\|you\}\}: news<\/div><p>/);
  assert.deepEqual(splitPreviewText(whole), { html, previewText: '{{firstName|you}}: news' });
  for (const previewText of [null, '']) assert.equal(withPreviewText({ html, previewText }), html);
  assert.deepEqual(splitPreviewText(html), { html, previewText: null });
});
