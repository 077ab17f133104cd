// Runs the GitHub action of .github/actions/upload.
import {importTool, root} from './tool.js';

const {runAction} = await importTool('tools/action/main.ts');
process.exitCode = await runAction(process.env, new URL('bin/media.js', root));
