/** The module of the thread that posts webhooks. */
import { servePart } from '../thread-app.ts';
import { startWebhooks } from './part.ts';

await servePart(startWebhooks);
