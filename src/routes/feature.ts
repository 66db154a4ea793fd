/** Inbound routes, which post received mail to URLs of tenants; `store.ts` is the door, and `post/part.ts` for posts. */
import type { App } from '../app.ts';
import type { Feature } from '../feature.ts';
import type { StartableThread } from '../system/thread/on-demand.ts';
import { registerInboundRoutesApi } from './api.ts';
import { registerReceivedApi, serveDownloads } from './messages/api.ts';
import { createPostStart } from './post/start.ts';

export const routes = {
  name: 'routes',
  ids: ['rt'],
  routes: [registerInboundRoutesApi, registerReceivedApi],
  // A route belongs to the domain of its address, and a message to the domains of those recipients that have a route.
  reach: {
    domain: [
      ...['createInboundRoute', 'listInboundRoutes', 'getInboundRoute', 'updateInboundRoute'],
      ...['deleteInboundRoute', 'testInboundRoute'],
      ...['listInboundMessages', 'getInboundMessage', 'getRawInboundMessage', 'getInboundAttachment'],
      'replayInboundMessage',
    ],
  },
  publicRoutes: [serveDownloads],
  works: [(app: Pick<App, 'db'> & { postThread: StartableThread }) => createPostStart(app, app.postThread)],
} satisfies Feature;
