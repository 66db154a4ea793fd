/** `postrider send`: sends an email as a tenant, such as the first one of a new installation. */
import type { Command } from 'commander';
import { withControl } from './context.ts';
import type { Terminal } from './terminal.ts';

type Options = {
  from: string;
  to: string[];
  subject: string;
  text?: string;
  html?: string;
  tenant?: string;
  test?: true;
};

/** Adds the command to the program. */
export function addSendCommand(program: Command, terminal: Terminal): void {
  program
    .command('send')
    .description(
      'Send an email as a tenant. Without --text and --html, its text is read from standard input.',
    )
    .requiredOption('--from <address>', 'sender, at a verified domain of the tenant')
    .requiredOption('--to <address...>', 'recipients')
    .requiredOption('--subject <subject>', 'subject')
    .option('--text <text>', 'text of the email')
    .option('--html <html>', 'HTML of the email')
    .option('--tenant <tenant>', 'id or name of the tenant; it may be left out while there is only one')
    .option('--test', 'only simulate it, as a test key does')
    .action(({ test, ...options }: Options, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const isEmpty = options.text === undefined && options.html === undefined;
        const text = isEmpty ? await readText(terminal) : options.text;
        const body = { ...options, mode: test ? 'test' : 'live', ...(text !== undefined && { text }) };
        const sent = await control.request<{ id: string }>('POST', '/emails', body);
        show(
          sent,
          () => `Email ${sent.id} is accepted. "postrider email show ${sent.id}" shows what becomes of it.`,
        );
      }),
    );
}

async function readText(terminal: Terminal): Promise<string> {
  const lines: string[] = [];
  for await (const line of terminal.readLines()) lines.push(line);
  return `${lines.join('\n')}\n`;
}
