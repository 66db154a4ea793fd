/** Messages that break a rule, or follow one that few programs know: each stands for a kind that a reader lost something of. */
import { multipart, octetsOf, part } from './messages.ts';

const PLAIN = 'Content-Type: text/plain';
const PDF = part(
  [
    'Content-Type: application/pdf; name=a.pdf',
    'Content-Disposition: attachment; filename=a.pdf',
    'Content-Transfer-Encoding: base64',
  ],
  'AAAA',
);
const QUOTED_HEADER =
  'Subject: Offer<br>From: a@x.test<br>To: b@x.test<br>Date: Thu, 18 Jun 2026 07:45:36 +0000';

const BODIES: readonly string[] = [
  multipart('mixed', [part([PLAIN], 'first'), PDF], { padding: ' ' }),
  part([`${PLAIN}; charset=utf-8; format=flowed`], '> a long question \r\nYes.\r\n'),
  part(['Content-Type: multipart/mixed'], 'some text\r\n'),
  part([`${PLAIN}; charset=us-ascii`], 'caf\xe9\r\n'),
  part(['Subject: Gr\xfc\xdfe', PLAIN], 'x\r\n'),
  part(['Subject: =?iso-8859-1?Q?Fr\xf6sche?='], 'x\r\n'),
  part(['Content-Transfer-Encoding: base64'], 'aGVsbG8=\r\n-- \r\nfooter of list\r\n'),
  part(
    ['Content-Type: text/html'],
    `<div>My answer</div><div><hr>${QUOTED_HEADER}<br><br>old text</div>\r\n`,
  ),
  multipart('mixed', [
    part([PLAIN], 'body'),
    part([`${PLAIN}; name=notes.txt`, 'Content-Disposition: inline; filename=notes.txt'], 'notes'),
  ]),
  part(['Subject: =?ISO-2022-JP?B?GyRCJUYlOSVIGyhC?=\r\n =?ISO-2022-JP?B?GyRCJUYlOSVIGyhC?='], 'x\r\n'),
  part(['Content-Type: text'], 'Hello there\r\n'),
];

/** Returns the messages, each with the fields that every message has. */
export function oddMessages(): Buffer[] {
  const header = [
    'From: Ann <ann@sender.test>',
    'To: rt@receiver.test',
    'Date: Fri, 20 Nov 2026 10:00:00 +0000',
    'Message-ID: <1@sender.test>',
    'MIME-Version: 1.0',
  ];
  return BODIES.map((body) => octetsOf(...header, body));
}
