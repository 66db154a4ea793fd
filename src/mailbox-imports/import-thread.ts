/** The module of the thread that reads mail from other servers. */
import { serveSystemPart } from '../thread-app.ts';
import { type ImportStart, startImportReader } from './part.ts';

await serveSystemPart((app, data) => startImportReader(app, data as ImportStart));
