/** The errors of connections: what the runtime said, and whether the request surely did nothing. */
import { aboutAnswer, type Hide } from './answers.ts';
import { PostriderError } from './errors.ts';

/** Errors of systems that say that nothing was sent: no connection was made. */
const UNSENT = new Set(['ECONNREFUSED', 'ConnectionRefused', 'ENOTFOUND', 'EAI_AGAIN']);

/** Returns the error of an answer whose body ended too early. */
export function cutOff(response: Response, cause: unknown, hide: Hide): PostriderError {
  hideIn(cause, hide);
  const message = `The connection ended within the answer${because(cause)}`;
  return new PostriderError({ type: 'connection_error', message, ...aboutAnswer(response, hide), cause });
}

/** Returns the error of a request without an answer. */
export function connectionError(cause: unknown, hide: Hide): PostriderError {
  hideIn(cause, hide);
  // Some versions of Node.js 24 keep a 401 back when the body of the request was a stream.
  if (causesOf(cause).some(({ message }) => message === 'expected non-null body source'))
    return new PostriderError({
      type: 'http_error',
      message: 'The server answered 401.',
      status: 401,
      cause,
    });
  const message = `The server could not be reached, or did not answer${because(cause)}`;
  return new PostriderError({ type: 'connection_error', message, cause });
}

/** Hides the key in what the runtime said, because Node.js quotes answers that are not HTTP. */
function hideIn(cause: unknown, hide: Hide): void {
  for (const one of causesOf(cause))
    for (const name of Object.getOwnPropertyNames(one)) {
      const text: unknown = Reflect.get(one, name);
      if (typeof text === 'string' && hide(text) !== text) Reflect.set(one, name, hide(text));
    }
}

/** Quotes the innermost cause, because runtimes hide it behind one sentence for all. */
function because(cause: unknown): string {
  const causes = causesOf(cause);
  const { message, code } = causes.at(-1) ?? {};
  const words = [code, message].filter((word) => typeof word === 'string' && word !== '');
  return words.length === 0 ? '.' : `: ${[...new Set(words)].join(', ')}`;
}

type Cause = { code?: unknown; message?: unknown; cause?: unknown };

function causesOf(error: unknown): Cause[] {
  const causes: Cause[] = [];
  for (let cause = error; typeof cause === 'object' && cause !== null && causes.length < 8; ) {
    causes.push(cause);
    cause = (cause as Cause).cause;
  }
  return causes;
}

export function isUnsent({ type, cause }: PostriderError): boolean {
  if (type !== 'connection_error') return false;
  return causesOf(cause).some(
    ({ code, message }) => UNSENT.has(String(code)) || /connection refused/i.test(String(message)),
  );
}
