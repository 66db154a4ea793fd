/** The module of the thread that delivers mail. */
import { servePart } from '../../thread-app.ts';
import { DELIVERY_PART } from './part.ts';

await servePart(DELIVERY_PART);
