/** For the build: writes the types of the client to a file. */
import { writeFileSync } from 'node:fs';
import { openApiDocument } from '../gateway/manual/openapi-document.ts';
import { routes } from '../gateway/route-table.ts';
import { typesText } from './types-text.ts';

const [, , file] = process.argv;
if (file === undefined) throw new Error('Usage: node write-types.js FILE');
writeFileSync(file, typesText(openApiDocument(routes)));
