/** The module of the thread that reads mail from other servers. */
import { serveSystemPart } from '../thread-app.ts';
import { IMPORT_PART } from './part.ts';

await serveSystemPart(IMPORT_PART);
