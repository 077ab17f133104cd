import {fileURLToPath} from 'node:url';
import ts from 'typescript';
import {schemaSubjects} from '../src/cli/commands/help-topics.ts';

/** A JSON Schema (2020-12), with the keywords that are made of types. */
export interface Schema {
  $schema?: string;
  title?: string;
  description?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
}

export type SchemaName = keyof typeof schemaSubjects;

/** The schema of each JSON output, made of the types by which the program is checked. */
export function jsonSchemas(root: URL): Map<SchemaName, Schema> {
  const path = (name: string) => fileURLToPath(new URL(`src/${name}.ts`, root));
  const file = path('cli/output/json-output');
  // Only what these files declare is needed, not all that they import.
  const names = ['errors', 'engine/service/record', 'engine/transfer/outcome'];
  const program = ts.createProgram([file, ...names.map(path)], {
    ...{noResolve: true, noEmit: true, strict: true, exactOptionalPropertyTypes: true, types: []},
    ...{lib: ['lib.es2023.d.ts'], allowImportingTsExtensions: true},
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
  });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const propertiesOf = (name: string): Record<string, Schema> => {
    const found = source?.statements.find(
      statement => ts.isInterfaceDeclaration(statement) && statement.name.text === name,
    );
    if (found === undefined) throw new Error(`There is no interface ${name} of JSON output.`);
    return new SchemaMaker(checker).schemaOf(checker.getTypeAtLocation(found)).properties ?? {};
  };
  const properties = propertiesOf('JsonOutputs');
  const events = propertiesOf('WatchEvents');
  for (const each of linesWith('event', properties['watch']))
    each.description = events[String(each.properties?.['event']?.const)]?.description ?? '';
  return new Map(
    Object.entries(schemaSubjects).map(([name, title]) => [
      name as SchemaName,
      {$schema: 'https://json-schema.org/draft/2020-12/schema', title, ...properties[name]},
    ]),
  );
}

/** Of the kinds of lines that a schema describes, those with this field. */
function linesWith(field: string, {anyOf = []}: Schema = {}): Schema[] {
  return anyOf.filter(({properties = {}}) => Object.hasOwn(properties, field));
}

class SchemaMaker {
  readonly #checker: ts.TypeChecker;

  constructor(checker: ts.TypeChecker) {
    this.#checker = checker;
  }

  schemaOf(type: ts.Type): Schema {
    if (type.isUnion()) return this.#unionOf(type.types);
    if (type.isStringLiteral() || type.isNumberLiteral()) return {const: type.value};
    const {flags} = type;
    if (flags & ts.TypeFlags.BooleanLiteral) return {const: this.#checker.typeToString(type) === 'true'};
    if (flags & ts.TypeFlags.String) return {type: 'string'};
    if (flags & ts.TypeFlags.Number) return {type: 'number'};
    if (flags & ts.TypeFlags.Null) return {type: 'null'};
    if (flags & ts.TypeFlags.Unknown) return {};
    if (this.#checker.isArrayType(type)) {
      const [item] = this.#checker.getTypeArguments(type as ts.TypeReference);
      return {type: 'array', ...(item !== undefined && {items: this.schemaOf(item)})};
    }
    if (flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) return this.#objectOf(type);
    throw new Error(`No schema can be made of the type ${this.#checker.typeToString(type)}.`);
  }

  /** Literals become an `enum`, in the order of the alphabet, since the compiler's order follows from other files; simple types a list of types. */
  #unionOf(types: readonly ts.Type[]): Schema {
    const schemas = types
      .filter(({flags}) => !(flags & ts.TypeFlags.Undefined))
      .map(member => this.schemaOf(member));
    const [only] = schemas;
    if (schemas.length === 1 && only !== undefined) return only;
    if (schemas.every(schema => 'const' in schema)) return {enum: schemas.map(schema => schema.const).sort()};
    const names = schemas.map(schema => (Object.keys(schema).length === 1 ? schema.type : undefined));
    return names.every(name => typeof name === 'string') ? {type: names} : {anyOf: schemas};
  }

  /** An object of the service, whose type has an index signature, may have any other fields. */
  #objectOf(type: ts.Type): Schema {
    const description = this.#commentOf(type.getSymbol());
    const fields = this.#checker.getPropertiesOfType(type);
    const [index] = this.#checker.getIndexInfosOfType(type);
    // A map, such as that of the files of a manifest.
    if (index !== undefined && fields.length === 0)
      return {type: 'object', additionalProperties: this.schemaOf(index.type)};
    const isOpen = index !== undefined;
    const required = fields.filter(({flags}) => !(flags & ts.SymbolFlags.Optional)).map(({name}) => name);
    return {
      ...(description !== undefined && {description}),
      type: 'object',
      properties: Object.fromEntries(
        fields.map(field => [field.name, isOpen ? this.#serviceFieldOf(field) : this.#fieldOf(field)]),
      ),
      ...(required.length > 0 && {required}),
      ...(isOpen && {additionalProperties: true}),
    };
  }

  #fieldOf(field: ts.Symbol): Schema {
    const description = this.#commentOf(field);
    const schema = this.schemaOf(this.#checker.getTypeOfSymbol(field));
    return description === undefined ? schema : {...schema, description};
  }

  /** The value is the service's, so that its documented type is not checked. */
  #serviceFieldOf(field: ts.Symbol): Schema {
    const {type, description = '', anyOf = [{type}]} = this.#fieldOf(field);
    const types = anyOf.flatMap(schema => schema.type ?? []).filter(name => name !== 'null');
    return {description: `Documented as ${types.join(' or ')}. ${description}`.trim()};
  }

  #commentOf(symbol: ts.Symbol | undefined): string | undefined {
    const text = ts.displayPartsToString(symbol?.getDocumentationComment(this.#checker));
    return text === '' ? undefined : text.replaceAll('\n', ' ');
  }
}
