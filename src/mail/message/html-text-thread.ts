/** The worker thread that lays out HTML as text. */
import { serveJobs } from '../../system/killable-threads/serve.ts';
import { layOutHtml } from './html-text-layout.ts';

serveJobs(layOutHtml);
