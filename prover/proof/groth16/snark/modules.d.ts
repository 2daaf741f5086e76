/** The parts of ffjavascript and snarkjs that this folder uses; neither ships types. */

declare module "ffjavascript" {
  interface WasmExports {
    readonly [name: string]: (...pointers: number[]) => void;
  }
  /** Holds one WebAssembly instance; memory word 0 points to its free memory. */
  interface ThreadManager {
    readonly instance: { readonly exports: WasmExports };
    readonly memory: WebAssembly.Memory;
    u8: Uint8Array;
    u32: Uint32Array;
    alloc(bytes: number): number;
  }
  interface CurveGroup {
    readonly F: { readonly n8: number };
    /** The generator: Jacobian and affine. */
    readonly g: Uint8Array;
    readonly gAffine: Uint8Array;
    /** Affine coordinates, each a number (G1) or a pair c0, c1 (G2), then 1 or [1, 0]. */
    toObject(point: Uint8Array): readonly (bigint | readonly [bigint, bigint])[];
    fromObject(point: readonly unknown[]): Uint8Array;
    toAffine(point: Uint8Array): Uint8Array;
    timesScalar(point: Uint8Array, scalar: bigint): Uint8Array;
    add(a: Uint8Array, b: Uint8Array): Uint8Array;
  }
  export interface Curve {
    readonly G1: CurveGroup;
    readonly G2: CurveGroup;
    readonly Fr: { readonly w: readonly Uint8Array[]; toObject(element: Uint8Array): bigint };
    readonly tm: ThreadManager;
    terminate(): Promise<void>;
  }
  export function buildBn128(singleThread?: boolean): Promise<Curve>;
}

declare module "snarkjs" {
  export interface SnarkjsProof {
    readonly pi_a: readonly string[];
    readonly pi_b: readonly (readonly string[])[];
    readonly pi_c: readonly string[];
  }
  /** Holds what is written to it. */
  export interface MemoryFile {
    readonly type: "mem";
    readonly data?: Uint8Array;
  }
  type File = string | Uint8Array | MemoryFile;
  interface Logger {
    debug(text: string): void;
    info(text: string): void;
    warn(text: string): void;
    error(text: string): void;
  }
  export const groth16: {
    prove(
      zkey: File,
      witness: File,
      logger?: undefined,
      options?: { singleThread?: boolean },
    ): Promise<{ proof: SnarkjsProof; publicSignals: string[] }>;
    verify(
      key: Readonly<Record<string, unknown>>,
      publicSignals: readonly string[],
      proof: Readonly<Record<string, unknown>>,
    ): Promise<boolean>;
  };
  export const powersOfTau: {
    newAccumulator(curve: unknown, power: number, file: File, logger?: Logger): Promise<Uint8Array>;
    contribute(from: File, to: File, name: string, entropy: string, logger?: Logger): Promise<Uint8Array>;
    beacon(
      from: File,
      to: File,
      name: string,
      hash: string,
      bits: number,
      logger?: Logger,
    ): Promise<Uint8Array>;
    preparePhase2(from: File, to: File, logger?: Logger): Promise<void>;
    verify(file: File, logger?: Logger): Promise<boolean>;
  };
  export const zKey: {
    newZKey(r1cs: File, ptau: File, zkey: File, logger?: Logger): Promise<Uint8Array | -1>;
    contribute(from: File, to: File, name: string, entropy: string, logger?: Logger): Promise<Uint8Array>;
    beacon(
      from: File,
      to: File,
      name: string,
      hash: string,
      bits: number,
      logger?: Logger,
    ): Promise<Uint8Array>;
    verifyFromR1cs(r1cs: File, ptau: File, zkey: File, logger?: Logger): Promise<boolean>;
    exportVerificationKey(zkey: File, logger?: Logger): Promise<Readonly<Record<string, unknown>>>;
  };
  export const curves: { getCurveFromName(name: string): Promise<{ terminate(): Promise<void> }> };
}
