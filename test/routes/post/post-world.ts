/** The world of received mail with routes and receivers that are functions, for the tests of posts to routes. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { insertBlob } from '../../../src/blobs/store.ts';
import type { Config } from '../../../src/config/config.ts';
import type { InboundRouteRow, ReceivedMessageRow, ReceivedTaskRow } from '../../../src/db/inbound-tables.ts';
import { insertReceived } from '../../../src/inbound/store.ts';
import { insertTask } from '../../../src/inbound/tasks/store.ts';
import { createMessageParser, type MessageParser } from '../../../src/mail/message/parse/parser.ts';
import { createRoutePostKind } from '../../../src/routes/post/part.ts';
import { IN_GOOD_STANDING } from '../../../src/routes/store.ts';
import type { HttpResponse } from '../../../src/system/fetch/answer.ts';
import type { Fetch, HttpRequest } from '../../../src/system/fetch.ts';
import { newId } from '../../../src/system/ids.ts';
import { startTasks, wakeTasks } from '../../../src/tasks/engine.ts';
import { newSecret } from '../../../src/webhooks/posting/signature.ts';
import { MESSAGE, type ReceivedWorld, shareReceivedWorld } from '../../inbound/received-world.ts';

export type Route = Pick<InboundRouteRow, 'id'> & { secret: string };
type Answer = Partial<HttpResponse> | Error;

export type PostWorld = ReceivedWorld & {
  /** Every post made, oldest first. */
  posts: HttpRequest[];
  /** Answer of all receivers from now on; 200 until a test sets it. */
  answer(give: (request: HttpRequest) => Answer | Promise<Answer>): void;
  /** Posts go over the network from now on. */
  useFetch(fetch: Fetch): void;
  addRoute(change?: Partial<InboundRouteRow>): Promise<Route>;
  route(): Promise<InboundRouteRow>;
  setRoute(change: Partial<InboundRouteRow>): Promise<void>;
  /** Adds a received message with a post to each of these routes. */
  deliver(
    message: string,
    routes: readonly Pick<Route, 'id'>[],
    row?: Partial<ReceivedMessageRow>,
  ): Promise<ReceivedMessageRow['id']>;
  /** Starts the work, with some other settings; it is stopped when the test ends. */
  start(settings?: Partial<Config['webhooks']>): void;
  settled(attempts: number): Promise<ReceivedTaskRow>;
};

/** Returns how the tests of the calling file find their world. */
export function sharePostWorld(): (run: (world: PostWorld) => Promise<void>) => Promise<void> {
  const inWorld = shareReceivedWorld();
  let parser: MessageParser | undefined;
  after(() => parser?.close());
  return (run) =>
    inWorld(async (world) => {
      const { app } = world.test;
      parser ??= createMessageParser(app, app.htmlText);
      const stops: (() => Promise<unknown>)[] = [];
      try {
        await run(openPostWorld(world, parser, stops));
      } finally {
        for (const stop of stops) await stop();
        await world.side.deleteFrom('inboundRoutes').execute();
      }
    });
}

function openPostWorld(
  world: ReceivedWorld,
  parser: MessageParser,
  stops: (() => Promise<unknown>)[],
): PostWorld {
  const { test, clock, side } = world;
  const posts: HttpRequest[] = [];
  let give: (request: HttpRequest) => Answer | Promise<Answer> = () => ({});
  let network: Fetch | undefined;
  let count = 0;
  return {
    ...world,
    posts,
    answer: (next) => {
      give = next;
    },
    useFetch: (fetch) => {
      network = fetch;
    },
    async addRoute(change) {
      count += 1;
      const now = clock.now();
      const id = newId('rt', now);
      const secret = newSecret();
      const tenantId = change?.tenantId ?? test.tenantId;
      const row: InboundRouteRow = {
        ...{ id, tenantId, address: `route${count}@shop.example`, domain: 'shop.example' },
        ...{ destination: `https://receiver${count}.example/in`, enabled: 1, ...IN_GOOD_STANDING },
        secretSealed: test.app.sealer.seal(secret, [tenantId, id]),
        ...{ createdAt: now, updatedAt: now, ...change },
      };
      await side.insertInto('inboundRoutes').values(row).execute();
      return { id, secret };
    },
    route: () => side.selectFrom('inboundRoutes').selectAll().executeTakeFirstOrThrow(),
    async setRoute(change) {
      await side.updateTable('inboundRoutes').set(change).execute();
    },
    async deliver(text, routes, row) {
      const createdAt = clock.now();
      const bytes = Buffer.from(text);
      const blob = await test.app.blobs.prepare([bytes]);
      await insertBlob(side, blob);
      const id = newId('in', createdAt);
      const tenantId = row?.tenantId ?? test.tenantId;
      const recipients = routes.map((route, position) => ({
        ...{ messageId: id, position, address: `Sales${position}@shop.example`, kind: 'post' as const },
        targetId: route.id,
        dsn: null,
      }));
      const message = {
        ...MESSAGE,
        id,
        tenantId,
        blobId: blob.id,
        sizeBytes: bytes.length,
        createdAt,
        ...row,
      };
      await insertReceived(side, message, recipients);
      for (const { position, targetId } of recipients) {
        const task = { messageId: id, position, tenantId, kind: 'post' as const, targetId, createdAt };
        await insertTask(side, { id: newId('tsk', createdAt), ...task });
      }
      wakeTasks(test.app, 'route-posts');
      return id;
    },
    start(settings) {
      const fetch = async (request: HttpRequest): Promise<HttpResponse> => {
        posts.push(request);
        if (network) return network(request);
        const answer = await give(request);
        if (answer instanceof Error) throw answer;
        return { status: 200, headers: {}, body: Buffer.alloc(0), truncated: false, ...answer };
      };
      const config = { ...test.app.config, webhooks: { ...test.app.config.webhooks, ...settings } };
      const app = { ...test.app, config, fetch, parser };
      const running = startTasks(app, [createRoutePostKind(app)]);
      stops.push(() => Promise.all([running.stop(0), clock.advance(0)]));
    },
    async settled(attempts) {
      let task: ReceivedTaskRow | undefined;
      await world.until(`attempt ${attempts} is settled`, async () => {
        [task] = await world.tasks();
        return task?.attempts === attempts && task.runId === null;
      });
      assert.ok(task);
      return task;
    },
  };
}
