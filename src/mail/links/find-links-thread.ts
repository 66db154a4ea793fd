/** The worker thread that finds the links of HTML. */
import { serveJobs } from '../../system/killable-threads/serve.ts';
import { findHtmlLinks } from './html-links.ts';

serveJobs(findHtmlLinks);
