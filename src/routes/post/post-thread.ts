/** The module of the thread that posts received mail to routes. */
import { servePart } from '../../thread-app.ts';
import { POST_PART } from './part.ts';

await servePart(POST_PART);
