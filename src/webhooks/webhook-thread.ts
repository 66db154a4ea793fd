/** The module of the thread that posts webhooks. */
import { servePart } from '../thread-app.ts';
import { WEBHOOK_PART } from './part.ts';

await servePart(WEBHOOK_PART);
