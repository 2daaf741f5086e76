/** The ONNX project's node tests as Debian's package libonnx-testdata installs them; ONNX_TESTDATA names another copy. */
export const NODE_TESTS = process.env.ONNX_TESTDATA ?? "/usr/share/libonnx-testdata/data/node";
