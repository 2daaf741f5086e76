"""What the client does, as steps that wait for nothing: each is a generator that yields effects and is sent their
outcomes. Two drivers perform effects, one that blocks and one that awaits (`assay.client`)."""
