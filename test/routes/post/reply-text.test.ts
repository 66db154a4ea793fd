import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unflow } from '../../../src/mail/message/part-text.ts';
import { readReplyText } from '../../../src/routes/post/reply-text.ts';

for (const [program, text, reply] of [
  [
    'Gmail',
    'Yes!\n\nOn Mon, Mar 2, 2026 at 9:00 AM Ann <ann@example.org> wrote:\n\n> Shall we?\n> Ann\n',
    'Yes!',
  ],
  [
    'Gmail, with a long name that is wrapped',
    'Yes!\n\nOn Mon, Mar 2, 2026 at 9:00 AM Ann Mueller-Luedenscheidt <\nann.mueller@example.org> wrote:\n\n> Shall we?\n',
    'Yes!',
  ],
  [
    'Gmail in German',
    'Ja.\n\nAm Mo., 2. März 2026 um 09:00 Uhr schrieb Ann <ann@example.org>:\n\n> Gehen wir?\n',
    'Ja.',
  ],
  [
    'Apple Mail in French',
    'Oui\n\n> Le 2 mars 2026 à 09:00, Ann <ann@example.org> a écrit :\n> \n> On y va ?\n',
    'Oui',
  ],
  [
    'Gmail in French',
    'Oui\n\nLe lun. 2 mars 2026 à 09:00, Ann <ann@example.org> a écrit :\n\n> On y va ?',
    'Oui',
  ],
  [
    'Gmail in Spanish',
    'Sí\n\nEl lun, 2 mar 2026 a las 9:00, Ann (<ann@example.org>) escribió:\n\n> ¿Vamos?',
    'Sí',
  ],
  [
    'Gmail in Italian',
    'Sì\n\nIl giorno lun 2 mar 2026 alle ore 09:00 Ann <ann@example.org> ha scritto:\n\n> Andiamo?',
    'Sì',
  ],
  [
    'Gmail in Portuguese',
    'Sim\n\nEm seg., 2 de mar. de 2026 às 09:00, Ann <ann@example.org> escreveu:\n\n> Vamos?',
    'Sim',
  ],
  ['Gmail in Dutch', 'Ja\n\nOp ma 2 mrt 2026 om 09:00 schreef Ann <ann@example.org>:\n\n> Gaan we?', 'Ja'],
  [
    'Gmail in Polish',
    'Tak\n\npon., 2 mar 2026 o 09:00 Ann <ann@example.org> napisał(a):\n\n> Idziemy?',
    'Tak',
  ],
  ['Thunderbird in Swedish', 'Ja\n\nDen 2026-03-02 kl. 09:00, skrev Ann:\n> Ska vi?\n', 'Ja'],
  ['Gmail in Russian', 'Да\n\nпн, 2 мар. 2026 г. в 09:00, Ann <ann@example.org>:\n\n> Пойдём?', 'Да'],
  ['Thunderbird in Russian', 'Да\n\n02.03.2026 9:00, Ann пишет:\n> Пойдём?', 'Да'],
  ['Gmail in Chinese', '好\n\nAnn <ann@example.org> 于2026年3月2日周一 09:00写道：\n\n> 走吧？', '好'],
  [
    'Outlook',
    'Yes!\n\n________________________________\nFrom: Ann <ann@example.org>\nSent: Monday, March 2, 2026 9:00 AM\nTo: Bob\nSubject: Shall we?\n\nShall we?',
    'Yes!',
  ],
  [
    'Outlook in German',
    'Ja.\n\nVon: Ann <ann@example.org> \nGesendet: Montag, 2. März 2026 09:00\nAn: Bob\nBetreff: Gehen wir?\n\nGehen wir?',
    'Ja.',
  ],
  [
    'a header that begins with Subject',
    'My answer\n\n--------------------\nSubject: Offer\nFrom: a@x.test\nTo: b@x.test\nDate: Thu, 18 Jun 2026 07:45:36 +0000\n\nold text',
    'My answer',
  ],
  [
    'a header that begins with Subject, in German and without a rule',
    'Ja.\n\nBetreff: Angebot\nVon: Ann <ann@example.org>\nAn: Bob\nDatum: Mo., 2. März 2026\n\nGehen wir?',
    'Ja.',
  ],
  [
    'a header that begins with the date, in French',
    'Oui\n\nDate : 2 mars 2026\nDe : Ann\nObjet : Offre\nÀ : Bob\n\nOn y va ?',
    'Oui',
  ],
  [
    'a header that begins with the recipients, which are wrapped',
    'Yes!\n\nTo: Bob <bob@example.org>,\n Carl <carl@example.org>,\n dora@example.org\nCc: Eve\nFrom: Ann\nSubject: Shall we?\n\nShall we?',
    'Yes!',
  ],
  [
    'a header without a date, in Markdown',
    'Yes!\n\n**From:** Ann\n**To:** Bob\n**Subject:** Shall we?\n\nShall we?',
    'Yes!',
  ],
  [
    'a header in Japanese',
    'はい\n\n件名: 提案\n差出人: Ann\n宛先: Bob\n送信日時: 2026年3月2日\n\n行く?',
    'はい',
  ],
  [
    'a header with empty lines between its fields',
    'Yes!\n\nSubject: Shall we?\n\nDate: Monday\n\nFrom: Ann\n\nTo: Bob\n\nShall we?',
    'Yes!',
  ],
  [
    'a list that has one field of a header',
    'Our offer:\n\nDate: Monday\nSubject: gardens\nTo: everybody\n\nBye',
    'Our offer:\n\nDate: Monday\nSubject: gardens\nTo: everybody\n\nBye',
  ],
  [
    'a header in columns',
    'Yes!\n\nSubject:\tShall we?\nFrom:  Ann\nDate:\t\u00a0Monday\n\nShall we?',
    'Yes!',
  ],
  ['an older Outlook', 'Yes!\n\n-----Original Message-----\nFrom: Ann\n\nShall we?', 'Yes!'],
  ['an older Outlook in Spanish', 'Sí\n\n-----Mensaje original-----\nDe: Ann\n\n¿Vamos?', 'Sí'],
  [
    'a program that does not mark quoted lines',
    'Yes!\n\nOn Mon, Mar 2, 2026 at 9:00 AM Ann <ann@example.org> wrote:\nShall we?\nAnn',
    'Yes!',
  ],
  [
    'answers below the quoted message',
    'On Mon, 2 Mar 2026, Ann wrote:\n> Shall we?\n> When?\n\nYes!',
    'Yes!',
  ],
  ['answers between the lines', 'Ann wrote:\n> Shall we?\n\nYes!\n\n> When?\n\nNow.', 'Yes!\n\nNow.'],
  ['no quoted message', 'Hello,\n\nshall we?\n\n-- \nAnn', 'Hello,\n\nshall we?\n\n-- \nAnn'],
  [
    'a sentence that looks like an attribution',
    'This is what he wrote:\n\nnothing.',
    'This is what he wrote:\n\nnothing.',
  ],
  [
    'a sentence that looks like a header',
    'From: here to there\n\nit is far.',
    'From: here to there\n\nit is far.',
  ],
  ['nothing but a quoted message', '> Shall we?\n', ''],
  ['nothing', '', ''],
] as const) {
  test(`the text without what it quotes: ${program}`, () => {
    assert.equal(readReplyText(text), reply);
    assert.equal(readReplyText(text.replaceAll('\n', '\r\n')), reply);
  });
}

for (const [what, text] of [
  ['wrapped attributions', 'On 1\nOn 2\n'.repeat(100_000)],
  ['lines that begin like a header', 'From: a\n'.repeat(100_000)],
  ['one long line', `On ${'1 wrote: '.repeat(100_000)}`],
  ['schrieb without an end', 'schrieb x '.repeat(39)],
  ['lines that begin like a subject', 'Subject: a\nDate: b\n'.repeat(50_000)],
  ['empty lines', '\n'.repeat(1_000_000)],
  ['dashes', `${'-'.repeat(399)}\n`.repeat(2_000)],
] as const) {
  test(`each line is looked at once, so this is over soon: ${what}`, () => {
    const reply = readReplyText(text);
    assert.ok(reply.length <= text.length);
  });
}

test('a line of the author that begins with a mark, which format=flowed protects, is not quoted', () => {
  assert.equal(readReplyText(unflow('> Which one? \n >5 GB', false)).trim(), '>5 GB');
});
