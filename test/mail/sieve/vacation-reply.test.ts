import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findReasonNotToReply } from '../../../src/mail/sieve/vacation-reply.ts';
import { octetsOf } from './fixture.ts';

const PERSONAL = 'From: Ann <ann@example.org>\nTo: Me <me@example.com>\nSubject: lunch\n';
const OWN = ['me@example.com', 'alias@example.com'];

function reasonFor(header: string, sender = 'ann@example.org'): string | undefined {
  return findReasonNotToReply({ octets: octetsOf(`${header}\nbody\n`), sender, ownAddresses: OWN });
}

test('mail of a person to the owner is answered', () => {
  for (const header of [
    PERSONAL,
    'Cc: group: x@y.example, ALIAS@Example.com;\n',
    'Bcc: me@example.com\n',
    'Resent-To: me@example.com\nTo: list@example.org\n',
    `${PERSONAL}Auto-Submitted: no\n`,
    `${PERSONAL}Precedence: first-class\n`,
  ])
    assert.equal(reasonFor(header), undefined, header);
});

test('mail of programs, lists and nobody is not answered, nor mail to others', () => {
  for (const [reason, header, sender] of [
    ['has no sender', PERSONAL, ''],
    ['comes from the owner', PERSONAL, 'Alias@example.com'],
    ['comes from the address of a program', PERSONAL, 'MAILER-DAEMON@example.org'],
    ['comes from the address of a program', PERSONAL, 'no-reply@example.org'],
    ['comes from the address of a program', PERSONAL, 'noreply+abc@example.org'],
    ['comes from the address of a program', PERSONAL, 'do_not_reply@example.org'],
    ['comes from the address of a program', PERSONAL, 'owner-list@example.org'],
    ['comes from the address of a program', PERSONAL, 'list-request@example.org'],
    ['comes from the address of a program', PERSONAL, 'list-bounces@example.org'],
    ['comes from a mailing list', `${PERSONAL}List-Id: <a.b.example>\n`, undefined],
    ['comes from a mailing list', `${PERSONAL}List-Unsubscribe: <mailto:a@b.example>\n`, undefined],
    ['was written by a program', `${PERSONAL}Auto-Submitted: auto-replied (vacation)\n`, undefined],
    ['was written by a program', `${PERSONAL}Auto-Submitted: auto-generated\n`, undefined],
    ['was written by a program', `${PERSONAL}Precedence: bulk\n`, undefined],
    ['was written by a program', `${PERSONAL}Precedence: LIST\n`, undefined],
    ['was written by a program', `${PERSONAL}Precedence: junk\n`, undefined],
    ['was written by a program', `${PERSONAL}X-Auto-Response-Suppress: DR, OOF\n`, undefined],
    ['is not addressed to the owner', 'To: other@example.com\nX-To: me@example.com\n', undefined],
    ['is not addressed to the owner', 'Subject: me@example.com\n', undefined],
    // A field in the body is none of the header.
    ['is not addressed to the owner', 'Subject: x\n\nTo: me@example.com\n', undefined],
  ] as const)
    assert.equal(reasonFor(header, sender), reason, `${header} ${sender}`);
});
