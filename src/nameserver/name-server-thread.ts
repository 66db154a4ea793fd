/** The module of the thread of the name server. */
import { serveSystemPart } from '../thread-app.ts';
import { NAME_SERVER_PART } from './part.ts';

await serveSystemPart(NAME_SERVER_PART);
