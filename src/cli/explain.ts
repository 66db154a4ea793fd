/** `postrider explain`: says what the reply of a mail server means, and what came back by mail. It needs no daemon. */
import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { cleanDiagnostic } from '../mail/dsn/notice.ts';
import { findProvider, packagedProviders } from '../providers/table.ts';
import { type ExplainedMessage, explainMessage } from '../queue/outcome/message.ts';
import { readReplyCodes } from '../queue/outcome/notice.ts';
import { isHard, type Meaning } from '../queue/outcome/replies/meaning.ts';
import { readReplies, repliesPath } from '../queue/outcome/replies/replies.ts';
import { REPLY_PHASES, type ReplyPhase } from '../queue/outcome/replies/row.ts';
import type { ReplyTable } from '../queue/outcome/replies/table.ts';
import { describeRule, type Rule } from '../queue/shaping/rule.ts';
import type { RuleTable } from '../queue/shaping/rule-table.ts';
import { readRules } from '../queue/shaping/rules-file.ts';
import { errorCode } from '../system/errors.ts';
import { contextOf, globalOptions } from './context.ts';
import { CommandError, UsageError } from './errors.ts';
import type { Terminal } from './terminal.ts';

type Options = { phase: ReplyPhase; host?: string; message?: string[] };
type Printer = { json: boolean; print(text: string): void };

/** Names standard input in place of a reply. */
const STANDARD_INPUT = '-';

/** Adds the command to the program. */
export function addExplainCommand(program: Command, terminal: Terminal): void {
  program
    .command('explain')
    .description('Explain the reply of a mail server: what it means, whether it suppresses, and what to do.')
    .argument(
      '[reply]',
      'the reply with its codes, such as "550 5.1.1 User unknown"; - reads one reply a line',
    )
    .addOption(
      new Option('--phase <phase>', 'the command that was answered')
        .choices([...REPLY_PHASES])
        .default('rcpt'),
    )
    .option('--host <name>', 'the name of the server, such as gmail-smtp-in.l.google.com')
    .option('--message <file...>', 'explain bounces, complaints and automatic replies in files instead')
    .action(async (reply: string | undefined, options: Options, command: Command) => {
      if ((reply === undefined) === (options.message === undefined))
        throw new UsageError('give one reply, or - to read one reply a line, or --message with files');
      const { config } = contextOf(command, terminal);
      const table = readReplies(repliesPath(config.delivery.repliesFile));
      const printer = { json: globalOptions(command).json === true, print: terminal.print };
      for (const file of options.message ?? []) explainFile(table, file, printer);
      if (reply === undefined) return;
      const tables = { replies: table, rules: readRules(config.delivery.backOffFile) };
      const replies = reply === STANDARD_INPUT ? terminal.readLines() : [reply];
      for await (const one of replies)
        if (one.trim() !== '') explainReply(tables, { text: one, options }, printer);
    });
}

type Tables = { replies: ReplyTable; rules: RuleTable };

function explainReply(
  { replies, rules }: Tables,
  { text, options }: { text: string; options: Options },
  { json, print }: Printer,
): void {
  const { phase } = options;
  const host = options.host ?? null;
  const line = cleanDiagnostic(text) ?? '';
  const { code, enhanced } = readReplyCodes(line);
  const meaning = replies.explain({ phase, code, enhanced, text: line, host });
  const report = { phase, smtpCode: code, enhancedCode: enhanced, text: line, mx: host };
  const provider = host === null ? undefined : findProvider(packagedProviders(), host.toLowerCase());
  const met = rules.match({ report, class: meaning.class, provider: provider?.name ?? null, ownNames: [] });
  print(json ? JSON.stringify(shownMeaning(meaning, met)) : describe(meaning, { replies, met }));
}

function shownMeaning(meaning: Meaning, met: readonly Rule[]) {
  const { class: class_, suppresses, row, advice, scope } = meaning;
  const backOff = met.map(({ id }) => id);
  return { class: class_, hard: isHard(meaning), suppresses, row, advice, scope, backOff };
}

const SUPPRESSES: Record<Meaning['suppresses'], string> = {
  now: 'at once (a hard bounce)',
  repeated: 'after bounces on two distinct days within 30 days',
  never: 'never',
};

function describe(meaning: Meaning, { replies, met }: { replies: ReplyTable; met: readonly Rule[] }): string {
  const row = replies.rows.find(({ id }) => id === meaning.row);
  return [
    `class       ${meaning.class}`,
    `suppresses  ${SUPPRESSES[meaning.suppresses]}`,
    `row         ${meaning.row}${row ? ` (${row.section}; source: ${row.source})` : ''}`,
    `advice      ${meaning.advice}`,
    ...met.map((rule) => `back-off    ${rule.id}: ${describeRule(rule)}`),
  ].join('\n');
}

function explainFile(table: ReplyTable, file: string, { json, print }: Printer): void {
  const explained = explainMessage(table, readMessageFile(file));
  print(json ? JSON.stringify({ file, ...explained }) : `${file}: ${describeMessage(explained)}`);
}

function readMessageFile(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new CommandError(`${file} cannot be read (${errorCode(error)})`);
  }
}

function describeMessage(explained: ExplainedMessage): string {
  if ('autoReply' in explained) return 'an automatic reply';
  if ('complaint' in explained) return `a complaint (${explained.complaint.type})`;
  if (explained.recipients.length === 0) return 'no failed recipient';
  const lines = explained.recipients.map(
    ({ address, class: class_, suppresses, row }) =>
      `  ${address ?? 'an unnamed recipient'}: ${class_}, suppresses ${SUPPRESSES[suppresses]} (${row})`,
  );
  return ['a bounce', ...lines].join('\n');
}
