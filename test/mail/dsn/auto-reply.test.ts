import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readReturnedMail } from '../../../src/mail/dsn/read.ts';

const AUTOMATIC = [
  'Auto-Submitted: auto-replied',
  'Auto-Submitted: auto-generated (vacation)',
  'X-Autoreply: yes',
  'Precedence: auto_reply',
  'Precedence: BULK',
  'Content-Type: multipart/report; report-type=disposition-notification; boundary=x',
  'Subject: Out of Office: Hi',
  'Subject: Re: Automatic reply: Hi',
  'Subject: =?UTF-8?Q?R=C3=A9ponse_automatique?=',
  'Subject: =?utf-8?B?6Ieq5Yqo5Zue5aSN?=',
  'Subject: Abwesenheitsnotiz',
];
const OF_PEOPLE = ['Auto-Submitted: no', 'Subject: Re: Hi', 'Precedence: first-class', 'Subject: The office'];

for (const field of AUTOMATIC)
  test(`mail with "${field}" is an automatic reply`, () => {
    assert.equal(readReturnedMail(Buffer.from(`${field}\n\nI am away.\n`)).kind, 'auto-reply');
  });

for (const field of OF_PEOPLE)
  test(`mail with "${field}" is not`, () => {
    assert.equal(readReturnedMail(Buffer.from(`${field}\n\nHello.\n`)).kind, 'other');
  });
