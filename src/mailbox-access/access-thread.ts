/** The module of the thread that listens for the protocols by which people read mail. */
import { serveSystemPart } from '../thread-app.ts';
import { ACCESS_PART } from './part.ts';

await serveSystemPart(ACCESS_PART);
