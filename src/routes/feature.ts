import type { App } from '../app.ts';
import type { Feature } from '../feature.ts';
import { registerInboundRoutesApi } from './api.ts';
import { registerReceivedApi } from './messages/api.ts';
import { serveDownloads } from './messages/downloads.ts';
import { createPostStart, type PostThread } from './post/start.ts';
import { moveInbound } from './set-back.ts';
import { endRouteSuspensions } from './store.ts';

export const routes = {
  name: 'routes',
  ids: ['rt'],
  routes: [registerInboundRoutesApi, registerReceivedApi],
  publicRoutes: [serveDownloads],
  works: [(app: Pick<App, 'db'> & { postThread: PostThread }) => createPostStart(app, app.postThread)],
  dueWorks: [
    // Suspensions would otherwise last as long as the set-back.
    { move: (db) => db.commit(endRouteSuspensions, undefined) },
    { move: moveInbound, wakeup: 'inbound' },
  ],
} satisfies Feature;
