/** The questions of a set-up. With --yes none is asked. */
import { existsSync } from 'node:fs';
import type { Config } from '../../config/config.ts';
import { parseMailbox } from '../../mail/address.ts';
import { isHostName } from '../../system/dns.ts';
import { UsageError } from '../errors.ts';
import type { Terminal } from '../terminal.ts';
import type { Answers } from './answers.ts';
import type { Places } from './configuration.ts';

/**
 * Asks for the name of a new machine, and whether certificates may be ordered. A configuration that is there already keeps its name,
 * and its authority unless an option names one.
 * @throws UsageError
 */
export async function askFirst(terminal: Terminal, { file }: Places, answers: Answers): Promise<Answers> {
  const isNew = !existsSync(file);
  const acme = isNew || answers.isAcmeNamed ? answers.acme : undefined;
  if (!answers.isInteractive) return { ...answers, acme };
  const hostname = isNew ? await askHostname(terminal, answers) : answers.hostname;
  return { ...answers, hostname, acme: await agree(terminal, acme) };
}

async function askHostname(terminal: Terminal, { hostname, domain }: Answers): Promise<string> {
  const usual = `mail.${domain}`;
  const named = hostname ?? ((await terminal.ask(`Host name of this machine [${usual}]: `)).trim() || usual);
  if (!isHostName(named)) throw new UsageError(`"${named}" is not a host name`);
  return named.toLowerCase();
}

async function agree(terminal: Terminal, acme: string | undefined): Promise<string | undefined> {
  if (acme === undefined) return undefined;
  const question = `Order certificates from ${new URL(acme).host}, and accept its terms of service? [Y/n] `;
  return /^n/i.test((await terminal.ask(question)).trim()) ? undefined : acme;
}

/** Waits until the operator has published the records: nothing is looked up before it can exist. */
export async function confirmPublished(
  terminal: Terminal,
  { isInteractive, waitMs }: Answers,
): Promise<void> {
  if (!isInteractive || waitMs === 0) return;
  await terminal.ask(
    'Publish these records, then press Enter. Ctrl-C is fine too: run the same command again later. ',
  );
}

/**
 * Returns the address of the test message: by default that of the operator, where it is outside of the new domain, because only a receiver
 * elsewhere says how this machine is seen. Otherwise it is the new mailbox.
 */
export async function readTestAddress(
  terminal: Terminal,
  { isInteractive, testTo, email, domain }: Answers,
  operator: Config['operator'],
): Promise<string> {
  const known = parseMailbox(operator.email);
  const usual = known && known.domain.toLowerCase() !== domain ? known.address : email;
  if (testTo !== undefined || !isInteractive) return testTo ?? usual;
  const answer = await terminal.ask(`Address elsewhere that a test message goes to [${usual}]: `);
  return parseMailbox(answer.trim())?.address ?? usual;
}
