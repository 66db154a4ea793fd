/** The merge tags of Resend, and ours. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  hasUnsubscribeTag,
  tagsFromResend,
  tagsToResend,
  unsubscribeTagFromResend,
  unsubscribeTagToResend,
} from '../../../src/compatibility/resend/merge-tags.ts';

test('each spelling that Resend has for a field of a contact becomes ours', () => {
  const spellings = [
    ['{{{FIRST_NAME|there}}}', '{{firstName|there}}'],
    ['{{{ FIRST_NAME | dear reader }}}', '{{firstName| dear reader }}'],
    ['{{{LAST_NAME}}}', '{{lastName}}'],
    ['{{{EMAIL}}}', '{{email}}'],
    ['{{{contact.first_name|there}}}', '{{firstName|there}}'],
    ['{{{contact.last_name}}} {{{contact.email}}}', '{{lastName}} {{email}}'],
    ['{{{contact.company_name|your company}}}', '{{company_name|your company}}'],
    ['{{{COMPANY}}}', '{{COMPANY}}'],
    ['{{{RESEND_UNSUBSCRIBE_URL}}}', '{{{unsubscribe_url}}}'],
    ['{{{unsubscribe_url}}}', '{{{unsubscribe_url}}}'],
    ['{{{contact.constructor}}} {{{constructor}}}', '{{constructor}} {{constructor}}'],
  ];
  for (const [theirs = '', ours] of spellings) assert.equal(tagsFromResend(theirs), ours);
});

test('what is no tag of Resend stays as it is', () => {
  for (const text of [
    '{{firstName}}',
    '{{{ }}}',
    '{{{a b}}}',
    '{{{1}}}',
    '{{#if plan}}a{{else}}b{{/if}}',
    '{{{x|{}}}}',
  ])
    assert.equal(tagsFromResend(text), text);
});

test('our tags are shown as Resend writes them', () => {
  const shown = [
    ['{{firstName|there}} {{lastName}} {{email}}', '{{{FIRST_NAME|there}}} {{{LAST_NAME}}} {{{EMAIL}}}'],
    ['{{company_name|you}}', '{{{contact.company_name|you}}}'],
    ['{{{unsubscribe_url}}}', '{{{RESEND_UNSUBSCRIBE_URL}}}'],
    ['{{#if plan}}{{plan}}{{else}}b{{/if}}', '{{#if plan}}{{{contact.plan}}}{{else}}b{{/if}}'],
    ['{{url plan}} {{{plan}}}', '{{url plan}} {{{plan}}}'],
  ];
  for (const [ours = '', theirs] of shown) assert.equal(tagsToResend(ours), theirs);
});

test('what is shown and given back is the same', () => {
  const tags = ['{{firstName|a}}', '{{plan}}', '{{{unsubscribe_url}}}', '{{EMAIL_2}}', '{{url plan}}'];
  const others = ['{{#if plan}}', '{{else}}', '{{/if}}', 'firstName', '|there', ' ', '<p>', '\n'];
  const pieces = fc.array(fc.constantFrom(...tags, ...others), { maxLength: 12 });
  fc.assert(
    fc.property(pieces, (list) => {
      const ours = list.join('');
      assert.equal(tagsFromResend(tagsToResend(ours)), ours);
    }),
  );
});

test('the tag of the link alone is translated in texts with variables', () => {
  const theirs = '<a href="{{{RESEND_UNSUBSCRIBE_URL}}}">{{{FIRST_NAME|you}}}</a>';
  const ours = '<a href="{{{unsubscribe_url}}}">{{{FIRST_NAME|you}}}</a>';
  assert.equal(unsubscribeTagFromResend(theirs), ours);
  assert.equal(unsubscribeTagToResend(ours), theirs);
  assert.equal(hasUnsubscribeTag(ours), true);
  assert.equal(hasUnsubscribeTag('{{unsubscribe_url}}'), false);
});

test('braces without an end take time in proportion to their number', () => {
  const text = '{{{a|'.repeat(200_000);
  assert.equal(tagsToResend(tagsFromResend(text)), text);
});
