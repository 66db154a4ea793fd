/** The messages that arrive in the rows of `inbound`, and the zone of their author. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rsaTestKey, signTestMessage } from '../support/sign-message.ts';
import { sampleEmail, toMessage } from './message.ts';
import type { Workspace } from './workspace.ts';

const AUTHOR_DOMAIN = 'author.test';
export const AUTHOR = `author@${AUTHOR_DOMAIN}`;
/** Author whose domain has no policy, so that mail without a signature is accepted. */
export const PLAIN_AUTHOR = 'author@plain.test';
const SELECTOR = 'bench';
/** Client that sent the message to the relay of the operator, which SPF judges. */
const AUTHOR_ADDRESS = '192.0.2.25';
const RSA_BITS = 2_048;
/** One line of base64 in an attachment. */
const FILLING = `${'QUJD'.repeat(19)}\r\n`;

export type InboundMessages = {
  /** Files of the messages, with lines that end in LF: smtp-source ends them itself. */
  small: string;
  large: string;
  /** A small one with a signature, from a client that SPF allows. */
  signed: string;
  /** Zone text of the author's domain. */
  zone: string;
};

/** Writes the messages: one of about 4 KiB, one of 100 KiB, and one that passes SPF, DKIM and DMARC. */
export function writeInboundMessages(workspace: Workspace): InboundMessages {
  const folder = workspace.newFolder('messages');
  const write = (name: string, message: string): string => {
    const file = join(folder, name);
    writeFileSync(file, message.replaceAll('\r\n', '\n'));
    return file;
  };
  const message = toMessage(sampleEmail(PLAIN_AUTHOR));
  const key = rsaTestKey(RSA_BITS);
  const signed = signTestMessage(toMessage(sampleEmail(AUTHOR)), {
    key,
    domain: AUTHOR_DOMAIN,
    selector: SELECTOR,
  });
  const received =
    `Received: from mail.${AUTHOR_DOMAIN} (mail.${AUTHOR_DOMAIN} [${AUTHOR_ADDRESS}])\r\n` +
    '\tby relay.test with ESMTP id 1; Fri, 15 Jan 2027 08:00:00 +0000\r\n';
  return {
    small: write('small.eml', message),
    large: write(
      'large.eml',
      message + FILLING.repeat(Math.ceil((100 * 1_024 - message.length) / FILLING.length)),
    ),
    signed: write('signed.eml', received + signed),
    zone: [
      // The peer judges the client itself, which is this machine.
      `${AUTHOR_DOMAIN} 300 TXT "v=spf1 ip4:${AUTHOR_ADDRESS} ip4:127.0.0.1 -all"`,
      `_dmarc.${AUTHOR_DOMAIN} 300 TXT "v=DMARC1; p=reject; aspf=s; adkim=s"`,
      `${SELECTOR}._domainkey.${AUTHOR_DOMAIN} 300 TXT "${key.record}"`,
    ].join('\n'),
  };
}
