import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inertHtml } from '../../src/dashboard/foreign-html.ts';

test('elements that reach other hosts in spite of the policy are none any more', () => {
  const html = `<html><head><META http-equiv="refresh" content="0; url=//e.test"><LINK
rel=preconnect href=//e.test><base/href=//e.test><title>t</title></head><body><p>linked <b>metal</b> <linked> &lt;link></p>`;
  const inert = inertHtml(html);
  assert.doesNotMatch(inert, /<(link|meta|base)[\s/>]/i);
  assert.match(inert, /<title>t<\/title>/);
  assert.match(inert, /<p>linked <b>metal<\/b> <linked> &lt;link><\/p>/);
});
