/** The module of the thread that posts received mail to routes. */
import { servePart } from '../../thread-app.ts';
import { startRoutePosts } from './part.ts';

await servePart(startRoutePosts);
