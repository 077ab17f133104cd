// What the runner starts: see action.yml.
import {runAction} from './run-action.ts';

process.exitCode = await runAction(process.env);
