/** The module of the thread that listens for the protocols by which people read mail. */
import { serveSystemPart } from '../thread-app.ts';
import { type AccessStart, startAccess } from './part.ts';

await serveSystemPart((app, data) => startAccess(app, data as AccessStart));
