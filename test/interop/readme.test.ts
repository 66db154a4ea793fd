/** The examples of the README with the real curl; the default suite runs them with one that stands in for it. */
import { testExamples } from '../readme/test-examples.ts';

testExamples('real');
