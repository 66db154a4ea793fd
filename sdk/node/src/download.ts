import type { Hide } from './answers.ts';
import { read } from './attachments.ts';
import { cutOff } from './connection.ts';
import { PostriderError } from './errors.ts';
import type { Call } from './timing.ts';

type Context = {
  call: Call;
  /** Milliseconds that may pass between two parts. */
  partMs: number;
  controller: AbortController;
  release: () => void;
  hide: Hide;
};

/**
 * A file that is read as it arrives: iterate over its parts, or give `body` to something that takes a stream.
 * One that is not wanted has to be closed with `cancel()`.
 */
export class Download implements AsyncIterable<Uint8Array> {
  /** Media type of the file. */
  readonly contentType: string | undefined;
  /** Bytes of the file, where the server says it. */
  readonly size: number | undefined;
  /** Headers of the answer; names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes. They can be read once. */
  readonly body: ReadableStream<Uint8Array>;

  constructor(response: Response, context: Context) {
    this.headers = Object.fromEntries(response.headers);
    const size = this.headers['content-length'];
    this.contentType = this.headers['content-type'];
    this.size = size === undefined ? undefined : Number(size);
    this.body = watched(response, context);
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return read(this.body);
  }

  /** Reads the file to its end, as bytes. */
  async bytes(): Promise<Uint8Array> {
    return new Uint8Array(await new Response(this.body).arrayBuffer());
  }

  /** Reads the file to its end, as text in UTF-8. */
  text(): Promise<string> {
    return new Response(this.body).text();
  }

  /** Ends the transfer. */
  cancel(): Promise<void> {
    return this.body.cancel();
  }
}

/** Returns the stream of a body, which fails when a part takes too long, the connection ends, or the call is ended. */
function watched(response: Response, { call, partMs, controller, release, hide }: Context) {
  const reader = response.body?.getReader();
  call.onEnd((error) => controller.abort(error));
  return new ReadableStream<Uint8Array>(
    {
      async pull(stream) {
        try {
          const work = reader?.read() ?? Promise.resolve({ done: true as const, value: undefined });
          const { done, value } = await call.within(partMs, work);
          if (!done) return stream.enqueue(value);
          release();
          stream.close();
        } catch (error) {
          release();
          controller.abort(error);
          stream.error(error instanceof PostriderError ? error : cutOff(response, error, hide));
        }
      },
      async cancel(reason) {
        release();
        await reader?.cancel(reason);
      },
    },
    // A part is asked for when it is wanted, and no sooner.
    { highWaterMark: 0 },
  );
}
