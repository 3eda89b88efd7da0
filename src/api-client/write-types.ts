/** For the build: writes the types of the client to a file. */
import { writeFileSync } from 'node:fs';
import { openApiDocument } from '../gateway/manual/openapi-document.ts';
import { routes } from '../gateway/route-table.ts';
import { generateTypes } from './generate-types.ts';

const [, , file] = process.argv;
if (file === undefined) throw new Error('Usage: node write-types.js FILE');
writeFileSync(file, generateTypes(openApiDocument(routes)));
