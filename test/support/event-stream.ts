/** A client of server-sent events, for tests of the streams of the dashboard. */
import { type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestApp } from './test-app.ts';

type Frame = { event: string; id: string | undefined; data: Record<string, unknown> };

export type EventStream = {
  status: number;
  headers: IncomingMessage['headers'];
  /** Frames that have come so far. */
  frames: Frame[];
  hasEnded(): boolean;
  close(): void;
};

/** Opens a stream, and resolves once the headers of the answer are there. */
export async function openEventStream(
  testApp: Pick<TestApp, 'openServer'>,
  path: string,
  headers: Record<string, string>,
): Promise<EventStream> {
  const { port } = (await testApp.openServer()).server.address() as AddressInfo;
  const asked = request({
    host: '127.0.0.1',
    port,
    path,
    agent: false,
    headers: { host: `localhost:${port}`, accept: 'text/event-stream', ...headers },
  });
  asked.end();
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    asked.on('response', resolve).on('error', reject),
  );
  const frames: Frame[] = [];
  let rest = '';
  let hasEnded = false;
  response.setEncoding('utf8');
  response.on('data', (text: string) => {
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(
        block.split('\n').map((line) => {
          const at = line.indexOf(': ');
          return [line.slice(0, at), line.slice(at + 2)] as const;
        }),
      );
      const event = fields.get('event');
      if (event !== undefined)
        frames.push({ event, id: fields.get('id'), data: JSON.parse(fields.get('data') ?? '{}') });
    }
  });
  response.on('close', () => {
    hasEnded = true;
  });
  response.on('error', () => {});
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    frames,
    hasEnded: () => hasEnded,
    close: () => asked.destroy(),
  };
}
