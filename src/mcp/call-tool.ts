/** Runs a tool: it checks the arguments, waits for its turn, bounds the time, and makes content of the answer or of the refusal. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { Ajv, type ValidateFunction } from 'ajv';
import { describeFindings, type Finding } from '../http/json/findings.ts';
import type { Clock } from '../system/clock.ts';
import { ConcurrencyLimiter } from '../system/concurrency-limiter.ts';
import { AppError } from '../system/errors.ts';
import type { Log } from '../system/log.ts';
import { failure, showAnswer, showRefusal } from './answer.ts';
import type { Answer, Tool, ToolContext } from './tool.ts';

/** Maximum time of a call in milliseconds. Clients give up after a minute. */
const MAX_CALL_MS = 30_000;
/** Maximum number of calls that run at the same time, and of those that wait. */
const MAX_RUNNING = 64;
const MAX_WAITING = 256;

export type ToolCalls = {
  /** Runs a tool for an owner, whose calls leave room for those of others. It never throws. */
  call(tool: Tool, given: unknown, asked: { context: ToolContext; owner: string }): Promise<CallToolResult>;
};

/** Creates what runs tools. */
export function createToolCalls({ clock, log }: { clock: Pick<Clock, 'after'>; log: Log }): ToolCalls {
  const limiter = new ConcurrencyLimiter({ maxRunning: MAX_RUNNING, perFree: 1, maxWaiting: MAX_WAITING });
  const checks = new Map<Tool, ValidateFunction>();

  function findIssues(tool: Tool, given: unknown): string[] {
    const check = checks.get(tool) ?? compile(tool);
    checks.set(tool, check);
    if (check(given)) return [];
    return describeFindings((check.errors ?? []) as Finding[]).map(({ path, message }) =>
      `${path === '' ? 'The arguments' : `\`${path}\``} ${message}`.trim(),
    );
  }

  async function run(tool: Tool, given: unknown, context: ToolContext): Promise<CallToolResult> {
    let key = (given as { idempotencyKey?: string }).idempotencyKey;
    const newIdempotencyKey = () => {
      key = context.newIdempotencyKey();
      return key;
    };
    try {
      return showAnswer(await inTime(clock, tool.run({ ...context, newIdempotencyKey }, given as never)));
    } catch (error) {
      if (error instanceof AppError) return showRefusal(withKey(error, key));
      log.error({ err: error, tool: tool.name }, 'a tool has failed');
      return failure('The tool has failed. This is a fault of the server, not of the arguments.');
    }
  }

  return {
    async call(tool, given, { context, owner }) {
      const issues = findIssues(tool, given);
      if (issues.length > 0) return failure(['The arguments are not valid:', ...issues].join('\n- '));
      const running = limiter.tryRun(() => run(tool, given, context), { owner });
      return (
        running ?? showRefusal(new AppError('unavailable', 'Too many calls run', { retryAfterSeconds: 2 }))
      );
    },
  };
}

/** Refusals of calls that may have been accepted nevertheless, or are accepted later. */
const REPEATABLE: ReadonlySet<AppError['code']> = new Set([
  'idempotency_in_progress',
  'interrupted',
  'rate_limited',
  'unavailable',
]);

/** Adds to a refusal the idempotency key of the call, with which repeating it does nothing twice. */
function withKey(refusal: AppError, key: string | undefined): AppError {
  if (key === undefined || !REPEATABLE.has(refusal.code)) return refusal;
  const message = `${refusal.message}. Repeat the call with idempotencyKey ${key}`;
  return new AppError(refusal.code, message, { ...refusal.options, cause: refusal });
}

/** Compiles the check of arguments, which names every wrong one. Nothing is converted and nothing is left out. */
function compile({ input }: Tool): ValidateFunction {
  return new Ajv({ strict: false, allErrors: true, verbose: true }).compile(input);
}

/**
 * Returns the answer of a tool unless it takes too long. The tool goes on, because what it has begun cannot be taken back.
 * @throws AppError interrupted
 */
async function inTime(clock: Pick<Clock, 'after'>, answer: Promise<Answer>): Promise<Answer> {
  const late = Promise.withResolvers<never>();
  const timer = clock.after(MAX_CALL_MS, () =>
    late.reject(
      new AppError(
        'interrupted',
        `The tool has not ended within ${MAX_CALL_MS / 1_000} seconds, and may still end. Look at what it has done before you repeat it`,
      ),
    ),
  );
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    timer.cancel();
  }
}
