/**
 * The lines of a set-up: on the terminal, in setup.log of the data directory, and in the JSON at the end. Secrets are on the terminal or
 * in the JSON alone.
 */
import type { Finding } from '../../doctor/check.ts';
import { findingLines } from '../finding-lines.ts';
import type { Terminal } from '../terminal.ts';
import type { SetupLog } from './setup-log.ts';

export class Report {
  /** Every finding so far, in its order. */
  readonly findings: Finding[] = [];
  readonly #terminal: Terminal;
  readonly #isJson: boolean;
  #log: SetupLog | undefined;
  /** Lines from before there was a log, or marks from before the JSON was printed. */
  #waiting: string[] = [];
  #marks: string[] = [];

  constructor(terminal: Terminal, { isJson }: { isJson: boolean }) {
    this.#terminal = terminal;
    this.#isJson = isJson;
  }

  /** Writes all lines to the log from now on, and first those that there are. */
  attach(log: SetupLog): void {
    this.#log = log;
    for (const line of this.#waiting) log.append(line);
    this.#waiting = [];
  }

  show(findings: readonly Finding[]): void {
    this.findings.push(...findings);
    for (const line of findingLines(findings)) this.say(line);
  }

  /** Writes text for people, such as records to publish. */
  say(text: string): void {
    if (!this.#isJson) this.#terminal.print(text);
    for (const line of text.split('\n')) {
      if (this.#log) this.#log.append(line);
      else this.#waiting.push(line);
    }
  }

  /** Shows a secret, and marks it in the log as shown: by the id of what it opens. */
  showSecret(text: string, id: string): void {
    if (this.#isJson) this.#marks.push(id);
    else {
      this.#terminal.print(text);
      this.#log?.mark('shown', id);
    }
  }

  /** Shows text with a secret in it that was shown and marked before. */
  showUnlogged(text: string): void {
    if (!this.#isJson) this.#terminal.print(text);
  }

  /** Prints the JSON, if that is asked for. */
  finish(result: object): void {
    if (!this.#isJson) return;
    this.#terminal.print(JSON.stringify({ ...result, findings: this.findings }, null, 2));
    for (const id of this.#marks) this.#log?.mark('shown', id);
  }
}
