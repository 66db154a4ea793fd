/** The thread that lays out HTML as text. */
import { answerJobs } from '../../system/killable-threads.ts';
import { layOutHtml } from './html-text-layout.ts';

answerJobs(layOutHtml);
