/** The worker thread that finds the links of HTML. */
import { serveJobs } from '../../system/killable-threads.ts';
import { findHtmlLinks } from './html-links.ts';

serveJobs(findHtmlLinks);
